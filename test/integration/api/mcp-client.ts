import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

interface Who {
  key?: string;
  workspace?: string;
}

export const headersOf = ({ key, workspace }: Who): Record<string, string> => ({
  ...(key && { authorization: `Bearer ${key}` }),
  ...(workspace && { 'x-everdict-workspace': workspace }),
});

/** A client of the official SDK, connected. */
export async function mcpClient(url: string, who: Who = {}, query = ''): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), {
    requestInit: { headers: headersOf(who) },
  });
  await client.connect(transport);
  return client;
}
