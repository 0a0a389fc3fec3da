import * as m from '#messages/downloads-problems';
import type { PlaylistEntry } from './order.ts';
import { cutToBytes, nameLimits } from './safe-names.ts';
import { getListFields, useFields } from './template-fields.ts';

const maxPartBytes = 180;
const maxTemplateLength = 1000;

/**
 * Explains why an output template is refused; undefined when it is valid. yt-dlp itself would expand `~` and `$NAME` in
 * it.
 */
export function findTemplateProblem(template: string): string | undefined {
  if (template.trim() === '') return m.templateRequired();
  if (template.includes('\0')) return m.templateWithNul();
  if (/^([/\\~]|[A-Za-z_,]+:)/.test(template)) return m.templateAbsolute();
  if (template.includes('$')) return m.templateWithVariable();
  if (template.length > maxTemplateLength) return m.templateTooLong({ maximum: maxTemplateLength });
  if (canLeaveFolder(template)) return m.templateLeavesFolder();
  return undefined;
}

const fieldPattern = /%\((.*?)\)[-#0 +,]*\d*(\.\d+)?[A-Za-z]/gs;

/**
 * Returns whether a part of the path may become `..`. yt-dlp sanitizes field values from a site, but not their default
 * (`%(x|..)s`), replacement (`%(x&..)s`), time format (`%(epoch>..)s`) or the result of a precision of 0.
 */
function canLeaveFolder(template: string): boolean {
  const withMarkers = template.replace(fieldPattern, (_, content: string, precision: string | undefined) => {
    const modifiers = [...content.matchAll(/([&|>])([^&|>]*)/g)];
    const isUnsafe = modifiers.some(([, modifier, text = '']) =>
      modifier === '>' ? !/%[YymdHMSjBbAa]/.test(text) : /^[.\s]*$/.test(text) || text.includes('{'),
    );
    return isUnsafe || /^\.0+$/.test(precision ?? '') ? '\ufffc' : 'x';
  });
  return withMarkers
    .split(/[/\\]/)
    .some((part) => /^[.\s\ufffc]*$/.test(part) && (part.trim() === '..' || part.includes('\ufffc')));
}

/** Splits the folder of a request into path parts below the download folder; undefined when it is outside. */
export function splitFolder(folder: string): readonly string[] | undefined {
  if (folder.includes('\0') || /^([/\\~]|[A-Za-z]:)/.test(folder)) return undefined;
  const parts = folder.split(/[/\\]/).filter((part) => part !== '' && part !== '.');
  return parts.includes('..') ? undefined : parts;
}

/**
 * Converts untrusted text to a part of a file name. Characters with a meaning in paths or templates are replaced by
 * similar ones.
 */
export function toSafePart(text: string): string {
  const lookalikes: Readonly<Record<string, string>> = { '/': '⧸', '\\': '⧹', $: '＄', ':': '：', '~': '～' };
  const sanitized = text
    .replaceAll(/\p{Bidi_Control}/gu, '')
    .replaceAll(/\p{Cc}/gu, ' ')
    .replaceAll(/[/\\$:~]/g, (mark) => lookalikes[mark] ?? '_')
    .trim();
  const truncated = cutToBytes(sanitized, maxPartBytes).replace(/[. ]+$/, '');
  return /^\.*$/.test(truncated) ? '_' : truncated;
}

/**
 * Returns the template of a download: list fields are passed to yt-dlp by `buildFieldArguments`, the prefix of the
 * request precedes the name, and yt-dlp resolves the rest.
 */
export function fillTemplate(
  template: string,
  { prefix, playlist }: { readonly prefix: string; readonly playlist: PlaylistEntry | null },
): string {
  const filled = playlist === null ? template : useFields(template, getListFields(playlist));
  if (prefix === '') return filled;
  const slash = filled.lastIndexOf('/') + 1;
  return `${filled.slice(0, slash)}${toSafePart(prefix).replaceAll('%', '%%')}.${filled.slice(slash)}`;
}

/** Adds ` (2)` before the extension: the next name to try when `name` exists. */
export function addNumber(name: string, number: number): string {
  if (number < 2) return name;
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot <= 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot)];
  return insertNumber(stem, number, extension);
}

function insertNumber(stem: string, number: number, rest: string): string {
  const end = ` (${String(number)})${rest}`;
  const [maxBytes] = nameLimits;
  return `${cutToBytes(stem, maxBytes - Buffer.byteLength(end))}${end}`;
}

/**
 * Returns the name of a file that belongs to `main` when both are numbered: the number follows the common part, `Name
 * (2).en.srt` next to `Name (2).mp4`.
 */
export function buildCompanionName(main: string, name: string, number: number): string {
  const dot = main.lastIndexOf('.');
  const stem = dot <= main.lastIndexOf('/') + 1 ? main : main.slice(0, dot);
  if (number < 2 || name === main || !name.startsWith(stem)) return addNumberInFolder(name, number);
  const slash = stem.lastIndexOf('/') + 1;
  return stem.slice(0, slash) + insertNumber(stem.slice(slash), number, name.slice(stem.length));
}

function addNumberInFolder(name: string, number: number): string {
  const slash = Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1;
  return name.slice(0, slash) + addNumber(name.slice(slash), number);
}
