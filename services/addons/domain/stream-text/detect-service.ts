import { debridServices, type ServiceId } from '../debrid-services.ts';

/** Debrid service of a stream and the availability of its file. */
export interface ServiceMark {
  readonly id: ServiceId;
  readonly cached: boolean;
}

/** Short names with another meaning: a language, dual audio or a time of day. */
const ambiguous = new Set(['en', 'pp', 'po', 'dl', 'ad', 'pm']);
const cachedIcons = '⚡🚀🌩📫✅';
const uncachedIcons = '⏳⬇⌛☁';
const isUncached = /[⏳⌛⬇☁]|\bdownload\b|\buncached\b|\bnot cached\b/iu;
const isCached = /[⚡🚀🌩📫✅]|\binstant\b|(?<!un)(?<!not )\bcached\b|\byour media\b/iu;

const names = debridServices
  .flatMap(({ id, knownNames }) => knownNames.map((name) => ({ id, name: name.toLowerCase() })))
  .toSorted((one, other) => other.name.length - one.name.length);
const idOf = new Map(names.map(({ id, name }) => [name, id]));

function escaped(name: string): string {
  return name.replaceAll('.', String.raw`\.`).replaceAll(/[ -]/g, '[ _-]?');
}

/** Characters that end the name of a service: brackets, bars, icons and spaces. */
const after = String.raw`(?=[\s+/|)\]}_.:,${cachedIcons}${uncachedIcons}\u{FE0F}\u{1F9F2}-]|$)`;
const anywhere = new RegExp(
  [
    String.raw`(?<![^\s|[({_/.\-${cachedIcons}${uncachedIcons}\u{FE0F}\u{1F9F2}])`,
    String.raw`(${names.map(({ name }) => escaped(name)).join('|')})(\+?)${after}`,
  ].join(''),
  'giu',
);
/** Characters around an ambiguous name that denotes a service. */
const before = new RegExp(String.raw`(?:[[({|]\s*(?:instant\s+)?|[${cachedIcons}${uncachedIcons}]\u{FE0F}?\s*)$`, 'iu');
const behind = new RegExp(String.raw`^\s*(?:[\])}|+]|[${cachedIcons}${uncachedIcons}])`, 'u');

/**
 * Detects the service in the name of a stream, such as `[RD+] Torrentio`, `[RD⬇️] Comet` or `MediaFusion 🧲 RD ⏳ 1080p`.
 * Without a mark the file is not available.
 *
 * @param description Only searched for marks.
 */
export function serviceMark(name: string, description: string): ServiceMark | undefined {
  const text = name.replaceAll(/web[ ._-]?dl/giu, '      ');
  for (const found of text.matchAll(anywhere)) {
    const word = found[1]?.toLowerCase() ?? '';
    const known =
      idOf.get(word) ?? idOf.get(word.replaceAll(/[ _-]+/g, ' ')) ?? idOf.get(word.replaceAll(/[ _-]+/g, ''));
    if (known === undefined) continue;
    const rest = text.slice(found.index + found[0].length);
    const isMarked = found[2] === '+' || before.test(text.slice(0, found.index)) || behind.test(rest);
    if (ambiguous.has(word) && !isMarked) continue;
    return { id: known, cached: readiness(name, description, found[2] === '+') };
  }
  return undefined;
}

function readiness(name: string, description: string, hasPlus: boolean): boolean {
  if (isUncached.test(name)) return false;
  if (hasPlus || isCached.test(name)) return true;
  return !/[⏳⌛]|\buncached\b/iu.test(description) && /⚡|(?<!un)(?<!not )\bcached\b/iu.test(description);
}
