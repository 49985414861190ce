export * from "npm:ai@7.0.173";
