import { findOptionsProblem, type Options } from '../domain/options.ts';
import { createRequestProblem, isEmpty, type Fields } from './fields.ts';
import { parseJsonOrThrow } from '../../contracts/parse-json.ts';

/**
 * Reads the names of presets from the list of the current schema or the single name of the former one.
 * @throws Problem 400 for an unknown preset
 */
export function readPresets(
  body: Fields,
  { ytdlPresets }: { readonly ytdlPresets: Readonly<Record<string, unknown>> },
): readonly string[] {
  const input = body['ytdl_options_presets'] ?? body['ytdl_options_preset'];
  if (isEmpty(input)) return [];
  const names = (Array.isArray(input) ? input : [input]) as readonly unknown[];
  if (!names.every((name) => typeof name === 'string' && Object.hasOwn(ytdlPresets, name))) {
    throw createRequestProblem('ytdl_options_presets must only contain configured preset names');
  }
  return [...new Set(names as readonly string[])];
}

/**
 * Reads the options of a request, as an object or its JSON.
 * @throws Problem 400 for options that are not allowed
 */
export function readOverrides(
  body: Fields,
  { allowOptionsOverrides }: { readonly allowOptionsOverrides: boolean },
): Options {
  const input = parseJsonValue(body['ytdl_options_overrides']);
  if (isEmpty(input) || JSON.stringify(input) === '{}') return {};
  if (!allowOptionsOverrides) throw createRequestProblem('ytdl_options_overrides are disabled');
  const problem = findOptionsProblem(input);
  if (problem !== undefined) throw createRequestProblem(`ytdl_options_overrides: ${problem}`);
  return input as Options;
}

function parseJsonValue(value: unknown): unknown {
  if (typeof value !== 'string' || value.trim() === '') return value === undefined || value === '' ? null : value;
  return parseJsonOrThrow(value, () => createRequestProblem('ytdl_options_overrides must be a JSON object'));
}
