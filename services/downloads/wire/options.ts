import { optionsProblem, type Options } from '../domain/options.ts';
import { bad, isEmpty, type Fields } from './fields.ts';

/** Names of presets, in the new schema's list or the old one's single name. @throws Problem 400 for one that is not there. */
export function readPresets(
  body: Fields,
  { ytdlPresets }: { readonly ytdlPresets: Readonly<Record<string, unknown>> },
): readonly string[] {
  const given = body['ytdl_options_presets'] ?? body['ytdl_options_preset'];
  if (isEmpty(given)) return [];
  const names = (Array.isArray(given) ? given : [given]) as readonly unknown[];
  if (!names.every((name) => typeof name === 'string' && Object.hasOwn(ytdlPresets, name))) {
    throw bad('ytdl_options_presets must only contain configured preset names');
  }
  return [...new Set(names as readonly string[])];
}

/** Options of one request, as an object or its JSON. @throws Problem 400 for what may not be set, or where none may. */
export function readOverrides(
  body: Fields,
  { allowOptionsOverrides }: { readonly allowOptionsOverrides: boolean },
): Options {
  const given = parsed(body['ytdl_options_overrides']);
  if (isEmpty(given) || JSON.stringify(given) === '{}') return {};
  if (!allowOptionsOverrides) throw bad('ytdl_options_overrides are disabled');
  const problem = optionsProblem(given);
  if (problem !== undefined) throw bad(`ytdl_options_overrides: ${problem}`);
  return given as Options;
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || value.trim() === '') return value === undefined || value === '' ? null : value;
  try {
    return JSON.parse(value);
  } catch {
    throw bad('ytdl_options_overrides must be a JSON object');
  }
}
