export * from "npm:@ai-sdk/openai-compatible@3.0.90";
