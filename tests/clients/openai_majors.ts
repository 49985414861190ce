import OpenAI4 from "openai-4";
import OpenAI5 from "openai-5";
import OpenAI6 from "openai-6";
import type OpenAI from "openai";
import { useOpenAI } from "./openai.ts";
import type { ClientService } from "./service.ts";

/** Earlier majors of OpenAI's package; the current one is in the suite. */
export async function useOpenAIMajors(service: ClientService): Promise<void> {
  for (const Client of [OpenAI4, OpenAI5, OpenAI6]) {
    await useOpenAI(Client as unknown as typeof OpenAI, service);
  }
}
