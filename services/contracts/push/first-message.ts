/** Message that Home and the Messages page offer to send while there is none. */
export const firstMessage = {
  topic: 'hello',
  title: 'Your first message',
  tags: ['wave'],
  message: 'It went to the topic hello. Scripts and phones publish to topics like this one; Messages shows how.',
};
