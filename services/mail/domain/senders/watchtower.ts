import type { Recogniser } from './program.ts';

/** `Watchtower updates on HOST`; a report counts what was scanned, updated and failed, and lists it line by line. */
export const watchtower: Recogniser = ({ subject, text }) => {
  const host = /\bwatchtower updates?(?: on (\S+))?/i.exec(subject);
  if (host === null) return undefined;
  const place = host[1] === undefined ? 'Watchtower' : `Watchtower on ${host[1]}`;
  const count = (word: string): number | undefined => {
    const found = new RegExp(`\\b(\\d{1,9})(?: containers?)? ${word}`, 'i').exec(text)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  const [updated, failed] = [count('updated'), count('failed')];
  if (updated === undefined) return { title: `${place} reports` };
  const counts = [`${String(updated)} updated`, ...(failed ? [`${String(failed)} failed`] : [])].join(', ');
  const type = failed ? 'failure' : updated > 0 ? 'success' : 'info';
  return { title: `${place}: ${counts}`, type };
};
