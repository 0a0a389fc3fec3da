import type { NoticeType } from '../../../contracts/notify/notice.ts';
import type { Recogniser } from './program.ts';

const marks: readonly (readonly [RegExp, NoticeType])[] = [
  [/^(failed|failure|error|critical|crit|fatal|alert|down|problem|firing|emergency)$/i, 'failure'],
  [/^(warning|warn|degraded)$/i, 'warning'],
  [/^(ok|up|success|successful|resolved|recovered|recovery|passed)$/i, 'success'],
];

/** A subject that begins with its own verdict: `[FAILED] nightly`, `✅ [up] My Site`, `ERROR: disk`. */
export const marked: Recogniser = ({ subject }) => {
  const [, bracketed, before] = /^[^\p{L}\p{N}[]*(?:\[([\p{L}]+)\]|([\p{L}]+):\s)/u.exec(subject) ?? [];
  const word = bracketed ?? before;
  const type = word === undefined ? undefined : marks.find(([mark]) => mark.test(word))?.[1];
  return type === undefined ? undefined : { type };
};
