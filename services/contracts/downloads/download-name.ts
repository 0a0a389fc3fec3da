/**
 * Returns the display name of a download: its title, else its file name, else its address. Until the extractor reports
 * a title, and for refused addresses, the title is only the host name, which would not distinguish downloads.
 */
export function getDownloadName(download: {
  readonly title: string;
  readonly filename: string | null;
  readonly url: string;
}): string {
  const file = download.filename
    ?.split('/')
    .at(-1)
    ?.replace(/\.[^.]+$/, '');
  const isHostName = URL.canParse(download.url) && new URL(download.url).hostname === download.title;
  return (isHostName ? '' : download.title) || file || download.url;
}
