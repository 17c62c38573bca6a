import { Controller, Get, Header, Param, StreamableFile } from '@nestjs/common';
import { PlatformError } from '../../contracts/errors.js';
import { Public } from '../common/requires.js';
import { AccessMode } from '../identity/access-mode.js';
import { ApiDescription } from './description.js';
import { DOCS_POLICY, DOCS_START, docsAsset, docsPage } from './docs-page.js';
import { Operation } from './operation.js';

@Controller()
export class OpenApiController {
  constructor(
    private readonly description: ApiDescription,
    private readonly mode: AccessMode,
  ) {}

  @Get('openapi.json')
  @Public()
  @Operation({
    summary: 'This description of the API',
    answer: { status: 200, type: 'application/json' },
  })
  openapi(): unknown {
    return this.description.document();
  }

  @Get('docs')
  @Public()
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', DOCS_POLICY)
  @Operation({ summary: 'This description as a page', answer: { status: 200, type: 'text/html' } })
  page(): string {
    return docsPage(!this.mode.isOn);
  }

  @Get('docs/start.js')
  @Public()
  @Header('content-type', 'text/javascript; charset=utf-8')
  start(): string {
    return DOCS_START;
  }

  @Get('docs/:file')
  @Public()
  async asset(@Param('file') file: string): Promise<StreamableFile> {
    const asset = await docsAsset(file);
    if (asset === undefined) throw new PlatformError('NOT_FOUND', `/docs has no file ${JSON.stringify(file)}`);
    return new StreamableFile(asset.bytes, { type: asset.type });
  }
}
