/** Domain of addresses without one. */
const defaultDomain = 'localhost';

/**
 * Normalizes `MAIL FROM:` and `RCPT TO:` of firmware and scripts like other servers: addresses without angle brackets,
 * with a display name, or without domain (`root`). Other text stays unchanged and is refused.
 */
export function normalizeAddressCommand(command: string): string {
  const [, verb, rest = ''] = /^([^:]*):\s*(.*)$/s.exec(command) ?? [];
  if (verb === undefined) return command;
  const [, path, parameters] =
    // Optional display name, quoted or not, then the address.
    /^(?:"[^"<>]*"|[^"<>=@]*)\s*<([^<>]*)>(.*)$/s.exec(rest) ??
    /^([^\s<>="]+@[^\s<>="]+|[\w.+-]+)(\s.*)?$/s.exec(rest) ??
    [];
  if (path === undefined) return command;
  const address = path === '' || path.includes('@') ? path : `${path.trim()}@${defaultDomain}`;
  return `${verb}:<${address.trim()}>${parameters ?? ''}`;
}

/** Joins a name of several words in `HELO` and `EHLO`, as sent by cameras named by users. */
export function joinHostName(command: string): string {
  const [verb = '', first, ...others] = command.trim().split(/\s+/);
  return first === undefined ? verb : `${verb} ${[first, ...others].join('-')}`;
}
