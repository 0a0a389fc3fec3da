import type { Recognizer } from './program.ts';

/** Image or video without text, as sent by cameras on motion. */
export const camera: Recognizer = ({ subject, text, attachmentTypes }) => {
  const mediaCount = attachmentTypes.filter((type) => /^(image|video)\//i.test(type)).length;
  if (mediaCount === 0 || mediaCount !== attachmentTypes.length || text.trim() !== '') return undefined;
  const mediaName = /^image\//i.test(attachmentTypes[0] ?? '') ? 'picture' : 'clip';
  return { body: subject === '' ? `A ${mediaName} came without words.` : subject };
};
