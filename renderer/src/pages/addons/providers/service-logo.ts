/** Returns the name of the logo of a service or an addon: `Real-Debrid` as `realdebrid`. */
export function getServiceLogo(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
