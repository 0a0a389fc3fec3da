/** What somebody typed or pasted as a film or an episode; undefined when it is neither. */
export function readTitle(typed: string): { readonly type: string; readonly id: string } | undefined {
  const found = /\b(tt\d{5,10})(?::(\d{1,4}):(\d{1,5}))?/.exec(typed);
  if (found?.[1] !== undefined)
    return found[2] === undefined ? { type: 'movie', id: found[1] } : { type: 'series', id: found[0] };
  const anime = /\b(?:kitsu|mal|anilist|anidb):\d+(?::\d+)?/.exec(typed);
  return anime === null ? undefined : { type: 'series', id: anime[0] };
}
