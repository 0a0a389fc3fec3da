import * as m from '#messages/mail-texts';
import type { Recognizer } from './program.ts';

/** Image or video without text, as sent by cameras on motion. */
export const camera: Recognizer = ({ subject, text, attachmentTypes }) => {
  const mediaCount = attachmentTypes.filter((type) => /^(image|video)\//i.test(type)).length;
  if (mediaCount === 0 || mediaCount !== attachmentTypes.length || text.trim() !== '') return undefined;
  if (subject !== '') return { body: subject };
  return { body: /^image\//i.test(attachmentTypes[0] ?? '') ? m.pictureWithoutText() : m.clipWithoutText() };
};
