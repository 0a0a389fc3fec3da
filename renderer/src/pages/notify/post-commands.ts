/** How a program reaches a key. `asked`: who posts, where the gateway asks for that before the key does. */
interface Place {
  /** Of the service, as the program reaches it. */
  readonly base: string;
  readonly key: string;
  readonly asked: string | undefined;
}

/** Where programs post to. */
export function addressOf({ base, key }: Place): string {
  return `${base}/notify/${key}`;
}

/** What programs are given to send to a key, each by its name, as it is copied. */
export function linesOf(place: Place) {
  const { base, key, asked } = place;
  const address = addressOf(place);
  const scheme = base.startsWith('https:') ? 'apprises' : 'apprise';
  return {
    curl: `curl${asked === undefined ? '' : ` -u "${asked}:$TOKEN"`} -d title=Hello -d body="First light" ${address}`,
    Apprise: `apprise -t Hello -b "First light" ${base.replace(/^https?/, scheme)}/${key}`,
    Alertmanager: `webhook_configs: [{ url: '${address}' }]`,
  } as const;
}
