import type { PlaylistPlace } from './order.ts';
import { cutToBytes, nameLimits } from './safe-names.ts';
import { listFields, useFields } from './template-fields.ts';

const longestPart = 180;
const longestTemplate = 1000;

/** Why an output template may not be used; undefined when it may. yt-dlp itself would expand `~` and `$NAME` in it. */
export function templateProblem(template: string): string | undefined {
  if (template.trim() === '') return 'Give a template, such as %(title)s.%(ext)s.';
  if (template.includes('\0')) return 'A template cannot hold a NUL character.';
  if (/^([/\\~]|[A-Za-z_,]+:)/.test(template)) return 'A template is relative to the download folder.';
  if (template.includes('$')) return 'A template cannot use environment variables.';
  if (template.length > longestTemplate) return `A template has at most ${longestTemplate} characters.`;
  if (canClimb(template)) return 'A template cannot leave the download folder.';
  return undefined;
}

const field = /%\((.*?)\)[-#0 +,]*\d*(\.\d+)?[A-Za-z]/gs;

/**
 * Whether a part of the path may come out as `..`. What a field takes from a site yt-dlp makes a safe name of, but not its
 * default (`%(x|..)s`), its replacement (`%(x&..)s`), a time format (`%(epoch>..)s`) or what a precision of 0 leaves of it.
 */
function canClimb(template: string): boolean {
  const marked = template.replace(field, (_, content: string, precision: string | undefined) => {
    const written = [...content.matchAll(/([&|>])([^&|>]*)/g)];
    const free = written.some(([, mark, text = '']) =>
      mark === '>' ? !/%[YymdHMSjBbAa]/.test(text) : /^[.\s]*$/.test(text) || text.includes('{'),
    );
    return free || /^\.0+$/.test(precision ?? '') ? '\ufffc' : 'x';
  });
  return marked
    .split(/[/\\]/)
    .some((part) => /^[.\s\ufffc]*$/.test(part) && (part.trim() === '..' || part.includes('\ufffc')));
}

/** The folder of a request as path parts below the download folder; undefined when it would lead out of it. */
export function folderParts(folder: string): readonly string[] | undefined {
  if (folder.includes('\0') || /^([/\\~]|[A-Za-z]:)/.test(folder)) return undefined;
  const parts = folder.split(/[/\\]/).filter((part) => part !== '' && part !== '.');
  return parts.includes('..') ? undefined : parts;
}

/** Text from outside as one part of a file name. Lookalikes stand in for what has a meaning in paths or templates. */
export function safePart(text: string): string {
  const lookalikes: Readonly<Record<string, string>> = { '/': '⧸', '\\': '⧹', $: '＄', ':': '：', '~': '～' };
  const plain = text
    .replaceAll(/\p{Bidi_Control}/gu, '')
    .replaceAll(/\p{Cc}/gu, ' ')
    .replaceAll(/[/\\$:~]/g, (mark) => lookalikes[mark] ?? '_')
    .trim();
  const short = cutToBytes(plain, longestPart).replace(/[. ]+$/, '');
  return /^\.*$/.test(short) ? '_' : short;
}

/**
 * The template for one download: fields of the list it came from are made known to yt-dlp by `fieldArguments`, the prefix
 * of the request stands before the name, and the rest is left to yt-dlp.
 */
export function fillTemplate(
  template: string,
  { prefix, playlist }: { readonly prefix: string; readonly playlist: PlaylistPlace | null },
): string {
  const filled = playlist === null ? template : useFields(template, listFields(playlist));
  if (prefix === '') return filled;
  const slash = filled.lastIndexOf('/') + 1;
  return `${filled.slice(0, slash)}${safePart(prefix).replaceAll('%', '%%')}.${filled.slice(slash)}`;
}

/** ` (2)` before the extension: the name to try when `name` is taken. */
export function numberedName(name: string, number: number): string {
  if (number < 2) return name;
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot <= 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot)];
  return withNumber(stem, number, extension);
}

function withNumber(stem: string, number: number, rest: string): string {
  const end = ` (${String(number)})${rest}`;
  const [maxBytes] = nameLimits;
  return `${cutToBytes(stem, maxBytes - Buffer.byteLength(end))}${end}`;
}

/**
 * The name of a file that comes with `main` when the number is given to both: it follows what the two have in common,
 * `Name (2).en.srt` beside `Name (2).mp4`.
 */
export function nameBeside(main: string, name: string, number: number): string {
  const dot = main.lastIndexOf('.');
  const stem = dot <= main.lastIndexOf('/') + 1 ? main : main.slice(0, dot);
  if (number < 2 || name === main || !name.startsWith(stem)) return inFolder(name, number);
  const slash = stem.lastIndexOf('/') + 1;
  return stem.slice(0, slash) + withNumber(stem.slice(slash), number, name.slice(stem.length));
}

function inFolder(name: string, number: number): string {
  const slash = Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1;
  return name.slice(0, slash) + numberedName(name.slice(slash), number);
}
