import { parseUnixSeconds } from '../domain/commit-time.ts';
import { gitTime, formatTime } from './time.ts';
import { unverified, type RepositoryAddress } from './commits.ts';

/** Converts an annotated tag, as `git cat-file tag` prints it, to JSON. */
export function annotatedTagJson(sha: string, text: string, { base, full }: RepositoryAddress) {
  const [head = '', ...body] = text.split('\n\n');
  const field = (name: string): string => new RegExp(`^${name} (.*)$`, 'm').exec(head)?.[1] ?? '';
  const [, name = '', email = '', seconds = '0'] = /^(.*) <(.*)> (\d+) /.exec(field('tagger')) ?? [];
  const api = `${base}/api/v1/repos/${full}/git`;
  const type = field('type');
  return {
    tag: field('tag'),
    sha,
    url: `${api}/tags/${sha}`,
    message: body.join('\n\n'),
    tagger: { name, email, date: gitTime(formatTime(parseUnixSeconds(seconds))) },
    object: { type, url: `${api}/${type}s/${field('object')}`, sha: field('object') },
    verification: unverified,
  };
}
