/** Parses the ID of a film or an episode from an input or a pasted address; undefined when there is none. */
export function parseTitle(input: string): { readonly type: string; readonly id: string } | undefined {
  const match = /\b(tt\d{5,10})(?::(\d{1,4}):(\d{1,5}))?/.exec(input);
  if (match?.[1] !== undefined)
    return match[2] === undefined ? { type: 'movie', id: match[1] } : { type: 'series', id: match[0] };
  const anime = /\b(?:kitsu|mal|anilist|anidb):\d+(?::\d+)?/.exec(input);
  return anime === null ? undefined : { type: 'series', id: anime[0] };
}
