/** Patterns of the wording that section 5 of the style guide replaces, each with the advice. */
const patterns: readonly (readonly [RegExp, string])[] = [
  [/\banew\b/i, 'use "again" or "restart"'],
  [/\bstands?\b(?! for)/i, 'things are listed or shown, they do not stand'],
  [/\balone\b/i, 'use "only"'],
  [/\bwho(ever|m)\b/i, 'name the person: user, account, device'],
  [/\bnobody\b|\bsomebody\b/i, 'name the person: no one, a user, an account'],
  [/^(Empty|Off|On):/, 'use "Leave empty to …", "When off, …"'],
  [/\bis (no(?! longer)|none)\b/i, 'use "is not a …" or "isn\'t valid"'],
  [/\bnot there any ?more\b|\bany more\b/i, 'use "no longer"'],
  [/^(Make|Making) an? /, 'use "Create" or "Add"'],
  [/\b(fits|fit)\b/i, 'use "matches", "is valid"'],
  [/\bgoes? on\b|\bwent on\b/i, 'use "continue"'],
  [/\b(choose|chosen|chose)\b/i, 'use "select"'],
  [/\bswitch(ed|es)? (on|off)\b/i, 'use "enable", "disable", "turn on", "turn off"'],
  [/\bput away\b|\bpass(ed|es)? on\b/i, 'use "archive", "forward"'],
  [/\bby itself\b|\bof itself\b/i, 'use "automatically"'],
  [/\bmachine\b/i, 'use "computer"'],
  [/\b(asleep|awake|patience|wakes?)\b/i, 'name the state: idle, starts'],
  [/\bas it is\b/i, 'use "unchanged"'],
  [/\bbesides\b/i, 'use "as well as", "also"'],
  [/\bpeople\b/i, 'use "users" or "accounts"'],
];

/** Returns the advice for each pattern that a text contains. Placeholders are left out. */
export function findOddWording(text: string): readonly string[] {
  const wording = text
    .replaceAll(/\{\w+(, *(plural|select|selectordinal|number),?)?/g, ' ')
    .replaceAll(/<\/?\w+>/g, '');
  return patterns
    .filter(([pattern]) => pattern.test(wording))
    .map(([pattern, advice]) => `${String(pattern)} ${advice}`);
}
