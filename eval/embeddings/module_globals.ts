/**
 * The backend of the sentence encoder joins `__dirname` to a file name that it then never opens,
 * because `encoder.ts` hands it the file's content. In a bundle there is no `__dirname`.
 */
Object.assign(globalThis, { __dirname: "" });
