import * as m from '#messages/mail-texts';
import { getTextBefore, type Recognizer } from './program.ts';

/** smartd: `SMART error (KIND) detected on host: HOST`; the logged text is between two fixed sentences. */
export const smartd: Recognizer = ({ subject, text }) => {
  const [, kind, host] = /^SMART error \(([^)]+)\) detected on host: (\S+)/i.exec(subject) ?? [];
  if (kind === undefined || host === undefined) return undefined;
  const intro = /logged by the smartd daemon:/i.exec(text);
  const body = intro === null ? text : text.slice(intro.index + intro[0].length);
  const isTest = kind.toLowerCase() === 'emailtest';
  return {
    title: isTest ? m.smartTest({ host }) : m.smartError({ host, error: kind }),
    body: getTextBefore(
      body,
      /^(For details see|You can also use the smartctl|The original message about|Another message)/i,
    ),
    type: isTest ? 'info' : 'failure',
  };
};

/** mdadm: `DegradedArray event on /dev/md0:HOST`, followed by `/proc/mdstat`. */
export const mdadm: Recognizer = ({ subject }) => {
  const [, event = '', device, host] = /^(\w+) event on (\/dev\/[^:\s]+):(\S+)/.exec(subject) ?? [];
  if (device === undefined || host === undefined) return undefined;
  const isHarmless = /^(SpareActive|RebuildFinished|NewArray|TestMessage|RebuildStarted|Rebuild\d+)$/.test(event);
  return { title: m.raidEvent({ host, event, device }), type: isHarmless ? 'info' : 'failure' };
};
