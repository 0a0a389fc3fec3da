/** How a program reaches a key. `asked` is the account name where the gateway requires a sign-in. */
interface PostTarget {
  /** Address of the service for the program. */
  readonly base: string;
  readonly key: string;
  readonly asked: string | undefined;
}

/** Returns the address that programs post to. */
export function getPostUrl({ base, key }: PostTarget): string {
  return `${base}/notify/${key}`;
}

/** Returns the commands and configuration lines for several programs. */
export function buildPostLines(target: PostTarget) {
  const { base, key, asked } = target;
  const url = getPostUrl(target);
  const scheme = base.startsWith('https:') ? 'apprises' : 'apprise';
  return {
    curl: `curl${asked === undefined ? '' : ` -u "${asked}:$TOKEN"`} -d title=Hello -d body="First light" ${url}`,
    Apprise: `apprise -t Hello -b "First light" ${base.replace(/^https?/, scheme)}/${key}`,
    Alertmanager: `webhook_configs: [{ url: '${url}' }]`,
  } as const;
}
