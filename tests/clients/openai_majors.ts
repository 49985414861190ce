import OpenAI4 from "npm:openai@4.104.0";
import OpenAI5 from "npm:openai@5.23.2";
import OpenAI6 from "npm:openai@6.49.0";
import type OpenAI from "openai";
import { useOpenAI } from "./openai.ts";
import type { ClientService } from "./service.ts";

/** Earlier majors of OpenAI's package; the current one is in the suite. */
export async function useOpenAIMajors(service: ClientService): Promise<void> {
  for (const Client of [OpenAI4, OpenAI5, OpenAI6]) {
    await useOpenAI(Client as unknown as typeof OpenAI, service);
  }
}
