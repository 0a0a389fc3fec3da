/**
 * A pattern for names such as `release/*` as the peer writes them: `?` and `*` stay within what `/` parts where `parted`,
 * `**` does not, `{a,b}` is either, `[a-z]` one letter. Undefined for what is no pattern.
 */
export function globPattern(text: string, { parted }: { readonly parted: boolean }): RegExp | undefined {
  const within = parted ? '[^/]' : '.';
  let source = '';
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at] ?? '';
    if (letter === '*') {
      const isDeep = text[at + 1] === '*';
      source += isDeep ? '.*' : `${within}*`;
      if (isDeep) at += 1;
    } else if (letter === '?') source += within;
    else if (letter === '{') {
      depth += 1;
      source += '(?:';
    } else if (letter === '}' && depth > 0) {
      depth -= 1;
      source += ')';
    } else if (letter === ',' && depth > 0) source += '|';
    else if (letter === '[') {
      const end = text.indexOf(']', at + 2);
      if (end < 0) return undefined;
      const letters = text.slice(at + 1, end).replaceAll(/[\\^\]]/g, String.raw`\$&`);
      source += `[${letters.replace(/^!/, '^')}]`;
      at = end;
    } else source += letter.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
  }
  if (depth > 0) return undefined;
  try {
    return new RegExp(`^${source}$`, 'u');
  } catch {
    return undefined; // Such as a range that ends before it begins.
  }
}
