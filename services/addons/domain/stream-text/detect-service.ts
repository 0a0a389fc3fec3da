import { streamServices, type StreamServiceId } from '../debrid-services.ts';

/** Debrid service of a stream and the availability of its file. */
export interface DetectedService {
  readonly id: StreamServiceId;
  readonly cached: boolean;
}

/** Short names with another meaning, such as a language, dual audio, a time of day or a visual tag. */
const ambiguousNames = new Set(['en', 'pp', 'po', 'dl', 'ad', 'pm', 'oc', 'ed', 'dr', 'der', 'db', 'sr', 'sdr']);
const cachedIcons = '⚡🚀🌩📫✅';
const uncachedIcons = '⏳⬇⌛☁';
const isUncached = /[⏳⌛⬇☁]|\bdownload\b|\buncached\b|\bnot cached\b/iu;
const isCached = /[⚡🚀🌩📫✅]|\binstant\b|(?<!un)(?<!not )\bcached\b|\byour media\b/iu;

const names = streamServices
  .flatMap(({ id, knownNames }) => knownNames.map((name) => ({ id, name: name.toLowerCase() })))
  .toSorted((a, b) => b.name.length - a.name.length);
const idsByName = new Map(names.map(({ id, name }) => [name, id]));

function escapeName(name: string): string {
  return name.replaceAll('.', String.raw`\.`).replaceAll(/[ -]/g, '[ _-]?');
}

/** Characters that end the name of a service: brackets, bars, icons and spaces. */
const nameEnd = String.raw`(?=[\s+/|)\]}_.:,${cachedIcons}${uncachedIcons}\u{FE0F}\u{1F9F2}-]|$)`;
const namePattern = new RegExp(
  [
    String.raw`(?<![^\s|[({_/.\-${cachedIcons}${uncachedIcons}\u{FE0F}\u{1F9F2}])`,
    String.raw`(${names.map(({ name }) => escapeName(name)).join('|')})(\+?)${nameEnd}`,
  ].join(''),
  'giu',
);
/** Characters around an ambiguous name that denotes a service. */
const prefixPattern = new RegExp(
  String.raw`(?:[[({|]\s*(?:instant\s+)?|[${cachedIcons}${uncachedIcons}]\u{FE0F}?\s*)$`,
  'iu',
);
const suffixPattern = new RegExp(String.raw`^\s*(?:[\])}|+]|[${cachedIcons}${uncachedIcons}])`, 'u');

/**
 * Detects the service in the name of a stream, such as `[RD+] Torrentio`, `[RD⬇️] Comet` or `MediaFusion 🧲 RD ⏳ 1080p`.
 * Without a mark the file is not available.
 *
 * @param description Only searched for marks.
 */
export function detectService(name: string, description: string): DetectedService | undefined {
  const text = name.replaceAll(/web[ ._-]?dl/giu, '      ');
  for (const match of text.matchAll(namePattern)) {
    const nameText = match[1]?.toLowerCase() ?? '';
    const serviceId =
      idsByName.get(nameText) ??
      idsByName.get(nameText.replaceAll(/[ _-]+/g, ' ')) ??
      idsByName.get(nameText.replaceAll(/[ _-]+/g, ''));
    if (serviceId === undefined) continue;
    const rest = text.slice(match.index + match[0].length);
    const isMarked = match[2] === '+' || prefixPattern.test(text.slice(0, match.index)) || suffixPattern.test(rest);
    if (ambiguousNames.has(nameText) && !isMarked) continue;
    return { id: serviceId, cached: detectAvailability(name, description, match[2] === '+') };
  }
  return undefined;
}

function detectAvailability(name: string, description: string, hasPlus: boolean): boolean {
  if (isUncached.test(name)) return false;
  if (hasPlus || isCached.test(name)) return true;
  return !/[⏳⌛]|\buncached\b/iu.test(description) && /⚡|(?<!un)(?<!not )\bcached\b/iu.test(description);
}
