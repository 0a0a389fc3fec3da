/** An expression as people write them elsewhere: `/x264|x265/i`, or bare, which does not tell capitals apart. @throws SyntaxError */
export function readPattern(source: string): RegExp {
  const delimited = /^\/(.+)\/([imsu]*)$/s.exec(source);
  return delimited === null ? new RegExp(source, 'i') : new RegExp(delimited[1] ?? '', delimited[2]);
}
