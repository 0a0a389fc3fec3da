import * as m from '#messages/mail-texts';
import type { Recognizer } from './program.ts';

/** `Watchtower updates on HOST`; a report counts scanned, updated and failed containers and lists them. */
export const watchtower: Recognizer = ({ subject, text }) => {
  const match = /\bwatchtower updates?(?: on (\S+))?/i.exec(subject);
  if (match === null) return undefined;
  const [, host] = match;
  const parseCount = (word: string): number | undefined => {
    const count = new RegExp(`\\b(\\d{1,9})(?: containers?)? ${word}`, 'i').exec(text)?.[1];
    return count === undefined ? undefined : Number(count);
  };
  const [updated, failed] = [parseCount('updated'), parseCount('failed')];
  if (updated === undefined)
    return { title: host === undefined ? m.watchtowerReport() : m.watchtowerReportHost({ host }) };
  const type = failed ? 'failure' : updated > 0 ? 'success' : 'info';
  return { title: formatTitle(host, updated, failed ?? 0), type };
};

function formatTitle(host: string | undefined, updated: number, failed: number): string {
  if (host === undefined)
    return failed === 0 ? m.watchtowerUpdated({ updated }) : m.watchtowerFailed({ updated, failed });
  return failed === 0 ? m.watchtowerUpdatedHost({ host, updated }) : m.watchtowerFailedHost({ host, updated, failed });
}
