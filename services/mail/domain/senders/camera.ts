import type { Recogniser } from './program.ts';

/** A picture or a clip and no words, as cameras send it when something moves. */
export const camera: Recogniser = ({ subject, text, attached }) => {
  const seen = attached.filter((type) => /^(image|video)\//i.test(type)).length;
  if (seen === 0 || seen !== attached.length || text.trim() !== '') return undefined;
  const what = /^image\//i.test(attached[0] ?? '') ? 'picture' : 'clip';
  return { body: subject === '' ? `A ${what} came without words.` : subject };
};
