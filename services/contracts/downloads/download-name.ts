/** Returns the display name of a download: its title, else its file name, else its address. */
export function getDownloadName(download: {
  readonly title: string;
  readonly filename: string | null;
  readonly url: string;
}): string {
  const file = download.filename
    ?.split('/')
    .at(-1)
    ?.replace(/\.[^.]+$/, '');
  return download.title || file || download.url;
}
