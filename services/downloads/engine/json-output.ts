import { z } from 'zod';
import { createServiceFailure, DownloadProblem } from '../domain/failure.ts';
import { parseJson } from '../../contracts/parse-json.ts';

/**
 * Parses the JSON output of the extractor.
 * @throws Problem `downloads.engine_failed` (502) when it is incomplete, empty or invalid
 */
export function parseOutput<T>(schema: z.core.$ZodType<T>, json: string): T {
  try {
    return z.parse(schema, parseJson(json));
  } catch (cause) {
    const failure = createServiceFailure(json === '' ? 'engine_output_empty' : 'engine_output_invalid', 'engine');
    throw new DownloadProblem('downloads.engine_failed', 502, failure, { cause });
  }
}
