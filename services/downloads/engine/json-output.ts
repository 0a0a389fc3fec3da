import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';

/** The extractor's answer about an address. @throws Problem `downloads.engine_failed` (502) when it is cut off, empty, or none at all. */
export function readAnswer<T>(schema: z.core.$ZodType<T>, json: string): T {
  try {
    return z.parse(schema, JSON.parse(json));
  } catch (cause) {
    const why = json === '' ? 'gave no answer' : 'gave an answer that is cut off or cannot be read';
    const detail = `yt-dlp ${why}. Retry; if that does not help, update yt-dlp.`;
    throw new Problem('downloads.engine_failed', 502, detail, { cause });
  }
}
