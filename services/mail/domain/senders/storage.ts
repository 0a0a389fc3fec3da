import { until, type Recogniser } from './program.ts';

/** smartd: `SMART error (KIND) detected on host: HOST`; what was logged stands between two fixed sentences. */
export const smartd: Recogniser = ({ subject, text }) => {
  const [, kind, host] = /^SMART error \(([^)]+)\) detected on host: (\S+)/i.exec(subject) ?? [];
  if (kind === undefined || host === undefined) return undefined;
  const logged = /logged by the smartd daemon:/i.exec(text);
  const body = logged === null ? text : text.slice(logged.index + logged[0].length);
  const test = kind.toLowerCase() === 'emailtest';
  return {
    title: test ? `SMART test mail of ${host}` : `SMART error on ${host}: ${kind}`,
    body: until(body, /^(For details see|You can also use the smartctl|The original message about|Another message)/i),
    type: test ? 'info' : 'failure',
  };
};

/** mdadm: `DegradedArray event on /dev/md0:HOST`, followed by `/proc/mdstat`. */
export const mdadm: Recogniser = ({ subject }) => {
  const [, event = '', device, host] = /^(\w+) event on (\/dev\/[^:\s]+):(\S+)/.exec(subject) ?? [];
  if (device === undefined || host === undefined) return undefined;
  const calm = /^(SpareActive|RebuildFinished|NewArray|TestMessage|RebuildStarted|Rebuild\d+)$/.test(event);
  return { title: `RAID on ${host}: ${event} of ${device}`, type: calm ? 'info' : 'failure' };
};
