import type { NotificationType } from '../../../contracts/notify/notification.ts';
import type { Recognizer } from './program.ts';

const typesByPrefix: readonly (readonly [RegExp, NotificationType])[] = [
  [/^(failed|failure|error|critical|crit|fatal|alert|alerting|down|problem|firing|emergency|offline)$/i, 'failure'],
  [/^(warning|warn|degraded|no data|nodata)$/i, 'warning'],
  [/^(ok|up|success|successful|resolved|recovered|recovery|passed|online|normal)$/i, 'success'],
];

/** `[FAILED]`, `[FIRING:3]`, `[FIRING:1, RESOLVED:2]` or `[No Data]`. */
const bracketPattern = /^[^\p{L}\p{N}[]*\[[^\p{L}\p{N}\][]*(No Data|\p{L}+)(?::\d[^\][]{0,40})?\]/iu;
/** The same after a name, such as `[nas] [FIRING:3]` or `Grafana: [OK]`. */
const namedBracketPattern =
  /^[^\p{L}\p{N}[]*(?:\[[^\][]{1,100}\]\s*|[\p{L}\p{N}][\p{L}\p{N} ._-]{0,40}:\s*)\[[^\p{L}\p{N}\][]*(No Data|\p{L}+)(?::\d[^\][]{0,40})?\]/iu;
/** `ERROR: disk`, `DOWN | backup`, `Resolved in 5m: disk`. */
const wordPattern = /^[^\p{L}\p{N}[]*(\p{L}+)(?: in [\w ]{1,30})?(?::\s|\s+[|–—-]\s)/u;
/** The same after a host or program: `nas.lan: WARNING - load`, `Zabbix: Problem: disk`. */
const namedWordPattern =
  /^(?!(?:re|fwd?|aw|wg):)[\p{L}\p{N}._-]{1,60}:\s+(\p{L}+)(?: in [\w ]{1,30})?(?::\s|\s+[|–—-]\s)/iu;
/** `[nas] 🔴 Down`: an icon before the outcome. */
const iconPattern = /^\[[^\][]{1,100}\]\s*\p{Extended_Pictographic}\ufe0f?\s*(\p{L}+)\b/u;

const subjectPatterns = [bracketPattern, namedBracketPattern, iconPattern, wordPattern, namedWordPattern];

/** Subject that begins with its outcome. */
export const subjectPrefix: Recognizer = ({ subject }) => {
  const prefixes = subjectPatterns.flatMap((pattern) => pattern.exec(subject)?.[1] ?? []);
  const type = prefixes.flatMap((prefix) => typesByPrefix.find(([mark]) => mark.test(prefix))?.[1] ?? [])[0];
  return type === undefined ? undefined : { type };
};
