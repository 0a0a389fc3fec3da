/**
 * Lists of addresses that attachments may be fetched from, as the owner wrote them: hosts or addresses with `*` and
 * `?`.
 */
export interface AddressLists {
  readonly attachmentAllow: readonly string[];
  readonly attachmentDeny: readonly string[];
}

/**
 * Matches a pattern: `*` is any text, `?` one character. Backtracks only to the last `*`, so that the run time is
 * bounded.
 */
function matches(pattern: string, text: string): boolean {
  let [patternIndex, star, from] = [0, -1, 0];
  for (let textIndex = 0; textIndex < text.length;) {
    if (pattern[patternIndex] === '*') {
      star = patternIndex;
      patternIndex += 1;
      from = textIndex;
    } else if (pattern[patternIndex] === '?' || pattern[patternIndex] === text[textIndex]) {
      patternIndex += 1;
      textIndex += 1;
    } else if (star >= 0) {
      patternIndex = star + 1;
      from += 1;
      textIndex = from;
    } else return false;
  }
  return /^\**$/.test(pattern.slice(patternIndex));
}

/** Returns the forms of an address that a pattern can match: host, with port, with path, with scheme. */
function listAddressForms({ host, hostname, pathname, protocol }: URL): readonly string[] {
  const forms = [hostname, host, `${hostname}${pathname}`, `${host}${pathname}`];
  return [...forms, ...forms.map((hostForm) => `${protocol}//${hostForm}`)].map((each) => each.toLowerCase());
}

function parsePatterns(list: readonly string[]): readonly string[] {
  return list.flatMap((each) => each.toLowerCase().split(/[\s,]+/)).filter((each) => each !== '');
}

/** Returns true if files may be fetched from the address: it is listed as allowed and not listed as denied. */
export function isFetchable(url: URL, { attachmentAllow, attachmentDeny }: AddressLists): boolean {
  const texts = listAddressForms(url);
  const isListed = (list: readonly string[]): boolean =>
    parsePatterns(list).some((pattern) => texts.some((text) => matches(pattern, text)));
  return !isListed(attachmentDeny) && isListed(attachmentAllow);
}

/** Returns true if the owner listed this host without a wildcard. Such a host may be in a private network. */
export function isNamedHost(
  { host, hostname }: URL,
  { attachmentAllow }: Pick<AddressLists, 'attachmentAllow'>,
): boolean {
  return parsePatterns(attachmentAllow).some((each) => {
    const hostForm = each.replace(/^https?:\/\//, '').split('/', 1)[0] ?? '';
    return hostForm === host || hostForm === hostname;
  });
}
