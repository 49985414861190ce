/**
 * Headers of a stream that proxies pass on piece by piece: nginx buffers other answers, and a proxy
 * that compresses one keeps its pieces back.
 */
export const UNBUFFERED = {
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};
