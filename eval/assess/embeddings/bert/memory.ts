/** An address in the kernel's memory, in bytes. */
export type Address = number;

/** 320 MB of addresses: a model, and rooms for 64 threads. What is not written to takes no memory. */
export const MEMORY_PAGES = 5120;
/** Where the number of rooms is that were taken: below the constants of the kernel. */
const TAKEN = 0;

/** Memory that the kernels of several threads work on. */
export function createMemory(): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: MEMORY_PAGES, maximum: MEMORY_PAGES, shared: true });
}

/**
 * One of the rooms of `bytes` behind `start`, which is given to nobody else. The room of a thread
 * that has ended stays taken. Throws if there is none left.
 */
export function takeRoom(memory: WebAssembly.Memory, start: Address, bytes: number): Address {
  const room = start + bytes * Atomics.add(new Int32Array(memory.buffer, TAKEN, 1), 0, 1);
  if (room + bytes > memory.buffer.byteLength) throw new RangeError("there is no room left");
  return room;
}
