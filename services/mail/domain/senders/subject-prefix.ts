import type { NotificationType } from '../../../contracts/notify/notification.ts';
import type { Recognizer } from './program.ts';

const typesByPrefix: readonly (readonly [RegExp, NotificationType])[] = [
  [/^(failed|failure|error|critical|crit|fatal|alert|alerting|down|problem|firing|emergency|offline)$/i, 'failure'],
  [/^(warning|warn|degraded|no data|nodata)$/i, 'warning'],
  [/^(ok|up|success|successful|resolved|recovered|recovery|passed|online)$/i, 'success'],
];

/** `[FAILED]`, `[FIRING:3]`, `[FIRING:1, RESOLVED:2]`, `[No Data]`; possibly after a name. */
const bracketPattern =
  /^[^\p{L}\p{N}[]*(?:\[[^\][]{1,100}\]\s*)??\[[^\p{L}\p{N}\][]*(No Data|\p{L}+)(?::\d[^\][]{0,40})?\]/iu;
/** `ERROR: disk`, `DOWN | backup`, `Resolved in 5m: disk`. */
const wordPattern = /^[^\p{L}\p{N}[]*(\p{L}+)(?: in [\w ]{1,30})?(?::\s|\s+[|–—-]\s)/u;

/** Subject that begins with its outcome. */
export const subjectPrefix: Recognizer = ({ subject }) => {
  const prefix = bracketPattern.exec(subject)?.[1] ?? wordPattern.exec(subject)?.[1];
  const type = prefix === undefined ? undefined : typesByPrefix.find(([mark]) => mark.test(prefix))?.[1];
  return type === undefined ? undefined : { type };
};
