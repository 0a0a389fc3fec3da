/** The lists of addresses files may be fetched from, as their owner wrote them: hosts or addresses with `*` and `?`. */
export interface AddressLists {
  readonly attachmentAllow: readonly string[];
  readonly attachmentDeny: readonly string[];
}

/** `*` is anything, `?` one character. Steps back to the last `*` alone, so that no pattern takes long. */
function matches(pattern: string, text: string): boolean {
  let [at, star, from] = [0, -1, 0];
  for (let place = 0; place < text.length;) {
    if (pattern[at] === '*') {
      star = at;
      at += 1;
      from = place;
    } else if (pattern[at] === '?' || pattern[at] === text[place]) {
      at += 1;
      place += 1;
    } else if (star >= 0) {
      at = star + 1;
      from += 1;
      place = from;
    } else return false;
  }
  return /^\**$/.test(pattern.slice(at));
}

/** Ways to write an address: its host alone, with its port, its path, its scheme. */
function listAddressForms({ host, hostname, pathname, protocol }: URL): readonly string[] {
  const forms = [hostname, host, `${hostname}${pathname}`, `${host}${pathname}`];
  return [...forms, ...forms.map((hostForm) => `${protocol}//${hostForm}`)].map((each) => each.toLowerCase());
}

function parsePatterns(list: readonly string[]): readonly string[] {
  return list.flatMap((each) => each.toLowerCase().split(/[\s,]+/)).filter((each) => each !== '');
}

/** Whether a file may be fetched from there: no to what is denied, yes to what is allowed, no to the rest. */
export function isFetchable(url: URL, { attachmentAllow, attachmentDeny }: AddressLists): boolean {
  const texts = listAddressForms(url);
  const isListed = (list: readonly string[]): boolean =>
    parsePatterns(list).some((pattern) => texts.some((text) => matches(pattern, text)));
  return !isListed(attachmentDeny) && isListed(attachmentAllow);
}

/** Whether the owner named this very host, without a wildcard: then it may be in his own network. */
export function isNamedHost(
  { host, hostname }: URL,
  { attachmentAllow }: Pick<AddressLists, 'attachmentAllow'>,
): boolean {
  return parsePatterns(attachmentAllow).some((each) => {
    const place = each.replace(/^https?:\/\//, '').split('/', 1)[0] ?? '';
    return place === host || place === hostname;
  });
}
