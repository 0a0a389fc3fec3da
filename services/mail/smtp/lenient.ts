/** The domain of an address that has none. */
const here = 'localhost';

/**
 * `MAIL FROM:` and `RCPT TO:` as firmware and scripts send them, made out as other servers do: an address without angle
 * brackets, with a name before it, or without a domain (`root`). What is no address stays as it is and is refused.
 */
export function bracketed(command: string): string {
  const [, verb, rest = ''] = /^([^:]*):\s*(.*)$/s.exec(command) ?? [];
  if (verb === undefined) return command;
  const [, path, more] =
    // A name with quotes, or words, and then the address.
    /^(?:"[^"<>]*"|[^"<>=@]*)\s*<([^<>]*)>(.*)$/s.exec(rest) ??
    /^([^\s<>="]+@[^\s<>="]+|[\w.+-]+)(\s.*)?$/s.exec(rest) ??
    [];
  if (path === undefined) return command;
  const address = path === '' || path.includes('@') ? path : `${path.trim()}@${here}`;
  return `${verb}:<${address.trim()}>${more ?? ''}`;
}

/** `HELO` and `EHLO` with a name in several words, as of cameras that people have named, with one. */
export function inOneWord(command: string): string {
  const [verb = '', first, ...words] = command.trim().split(/\s+/);
  return first === undefined ? verb : `${verb} ${[first, ...words].join('-')}`;
}
