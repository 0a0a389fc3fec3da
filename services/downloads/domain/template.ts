import type { PlaylistPlace } from './order.ts';

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

/** The longest beginning of at most `bytes` in UTF-8 that ends between two characters. */
export function cutToBytes(text: string, bytes: number): string {
  let size = 0;
  let cut = '';
  for (const character of text) {
    size += new TextEncoder().encode(character).length;
    if (size > bytes) break;
    cut += character;
  }
  return cut;
}

/**
 * The template for one download: what only we know (the playlist, the entry's own title, the prefix) is filled in, the
 * rest is left to yt-dlp.
 */
export function fillTemplate(
  template: string,
  fill: { readonly prefix: string; readonly playlist: PlaylistPlace | null },
): string {
  const literal = (text: string): string => safePart(text).replaceAll('%', '%%');
  const values: Record<string, string> = {};
  if (fill.playlist !== null) {
    const { id, title, index, count, entryTitle, channel } = fill.playlist;
    const name = title === '' ? `playlist ${id}` : title;
    Object.assign(values, {
      playlist: literal(name),
      playlist_title: literal(name),
      playlist_id: literal(id),
      playlist_index: String(index).padStart(String(count).length, '0'),
      n_entries: String(count),
      ...(entryTitle === null ? {} : { title: literal(entryTitle) }),
      ...(channel === undefined
        ? {}
        : {
            channel: literal(channel.name),
            channel_id: literal(channel.id),
            channel_index: String(index).padStart(String(count).length, '0'),
            channel_count: String(count),
          }),
    });
  }
  const filled = template.replaceAll(
    /%\((\w+)\)[-#0 +]*\d*(?:\.\d+)?[A-Za-z]/g,
    (field, name: string) => values[name] ?? field,
  );
  if (fill.prefix === '') return filled;
  const slash = filled.lastIndexOf('/') + 1;
  return `${filled.slice(0, slash)}${literal(fill.prefix)}.${filled.slice(slash)}`;
}

/** ` (2)` before the extension: the name to try when `name` is taken. */
export function numberedName(name: string, number: number): string {
  if (number < 2) return name;
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? `${name} (${number})` : `${name.slice(0, dot)} (${number})${name.slice(dot)}`;
}

/**
 * The name of a file that comes with `main` when the number is given to both: it follows what the two have in common,
 * `Name (2).en.srt` beside `Name (2).mp4`.
 */
export function nameBeside(main: string, name: string, number: number): string {
  const dot = main.lastIndexOf('.');
  const stem = dot <= main.lastIndexOf('/') + 1 ? main : main.slice(0, dot);
  if (number < 2 || name === main || !name.startsWith(stem)) return inFolder(name, number);
  return `${stem} (${number})${name.slice(stem.length)}`;
}

function inFolder(name: string, number: number): string {
  const slash = Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1;
  return name.slice(0, slash) + numberedName(name.slice(slash), number);
}
