/** What Home and the page of messages send for somebody who has none yet. */
export const firstMessage = {
  ...{ topic: 'hello', title: 'Your first message', tags: ['wave'] },
  message: 'It went to the topic hello. Scripts and phones publish to topics like this one; Messages shows how.',
};
