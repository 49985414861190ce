export * from "npm:openai@7.53.0";
export { default } from "npm:openai@7.53.0";
