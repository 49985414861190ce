export * from "npm:junit2json@4.0.0";
