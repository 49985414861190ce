/**
 * The same items, each asked for while the one before it is being used. One item at most is held
 * ready, and none is asked for any more once the user has left.
 */
export async function* readAhead<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    let next = iterator.next();
    while (true) {
      const { done, value } = await next;
      if (done) return;
      next = iterator.next();
      next.catch(() => {}); // told to whoever comes back for it
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}
