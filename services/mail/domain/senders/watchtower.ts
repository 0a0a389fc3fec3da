import type { Recognizer } from './program.ts';

/** `Watchtower updates on HOST`; a report counts scanned, updated and failed containers and lists them. */
export const watchtower: Recognizer = ({ subject, text }) => {
  const host = /\bwatchtower updates?(?: on (\S+))?/i.exec(subject);
  if (host === null) return undefined;
  const source = host[1] === undefined ? 'Watchtower' : `Watchtower on ${host[1]}`;
  const parseCount = (word: string): number | undefined => {
    const match = new RegExp(`\\b(\\d{1,9})(?: containers?)? ${word}`, 'i').exec(text)?.[1];
    return match === undefined ? undefined : Number(match);
  };
  const [updated, failed] = [parseCount('updated'), parseCount('failed')];
  if (updated === undefined) return { title: `${source} reports` };
  const counts = [`${String(updated)} updated`, ...(failed ? [`${String(failed)} failed`] : [])].join(', ');
  const type = failed ? 'failure' : updated > 0 ? 'success' : 'info';
  return { title: `${source}: ${counts}`, type };
};
