import { timeOfSeconds } from '../domain/commit-time.ts';
import { gitTime, timeOf } from './time.ts';
import { unverified, type Place } from './commits.ts';

/** The object of an annotated tag, as `git cat-file tag` prints it, in the peer's form. */
export function annotatedTagJson(sha: string, text: string, { base, full }: Place) {
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
    tagger: { name, email, date: gitTime(timeOf(timeOfSeconds(seconds))) },
    object: { type, url: `${api}/${type}s/${field('object')}`, sha: field('object') },
    verification: unverified,
  };
}
