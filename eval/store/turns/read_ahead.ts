/**
 * The same items, each requested while the one before it is being used. At most one item is
 * buffered, and none is requested after the consumer has stopped.
 */
export async function* readAhead<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    let next = iterator.next();
    while (true) {
      const { done, value } = await next;
      if (done) return;
      next = iterator.next();
      next.catch(() => {}); // thrown when the item is requested
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}
