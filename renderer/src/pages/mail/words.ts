/** How the state of a mail, or of one of its deliveries, is told. */
export const states = {
  delivered: { text: 'Delivered', tone: 'ok' },
  waiting: { text: 'Waiting', tone: 'warn' },
  dead: { text: 'Given up', tone: 'bad' },
} as const;
