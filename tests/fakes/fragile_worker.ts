/** A real worker that echoes, throws, hangs, or dies, as its input says. */
import { serveCalls, stoppable } from "../../shared/service/serve_calls.ts";

serveCalls(stoppable((order: string) => {
  if (order === "throw") throw new Error("no such text");
  if (order === "die") {
    setTimeout(() => {
      throw new Error("killed by the call");
    });
    return new Promise<string>(() => {});
  }
  if (order === "leave") {
    self.close();
    return new Promise<string>(() => {});
  }
  while (order === "hang");
  return order;
}));
