import * as m from '#messages/push-texts';

/** Message that Home and the Messages page offer to send while there is none; its texts are in the reader's language. */
export const firstMessage = {
  topic: 'hello',
  title: m.firstMessageTitle,
  tags: ['wave'],
  message: m.firstMessageText,
};
