import type { NotificationType } from '../../../contracts/notify/notification.ts';
import type { Recogniser } from './program.ts';

const marks: readonly (readonly [RegExp, NotificationType])[] = [
  [/^(failed|failure|error|critical|crit|fatal|alert|alerting|down|problem|firing|emergency|offline)$/i, 'failure'],
  [/^(warning|warn|degraded|no data|nodata)$/i, 'warning'],
  [/^(ok|up|success|successful|resolved|recovered|recovery|passed|online)$/i, 'success'],
];

/** `[FAILED]`, `[FIRING:3]`, `[FIRING:1, RESOLVED:2]`, `[No Data]`; perhaps behind the name of what it is about. */
const bracket = /^[^\p{L}\p{N}[]*(?:\[[^\][]{1,100}\]\s*)??\[[^\p{L}\p{N}\][]*(No Data|\p{L}+)(?::\d[^\][]{0,40})?\]/iu;
/** `ERROR: disk`, `DOWN | backup`, `Resolved in 5m: disk`. */
const word = /^[^\p{L}\p{N}[]*(\p{L}+)(?: in [\w ]{1,30})?(?::\s|\s+[|–—-]\s)/u;

/** A subject that begins with its own verdict. */
export const marked: Recogniser = ({ subject }) => {
  const found = bracket.exec(subject)?.[1] ?? word.exec(subject)?.[1];
  const type = found === undefined ? undefined : marks.find(([mark]) => mark.test(found))?.[1];
  return type === undefined ? undefined : { type };
};
