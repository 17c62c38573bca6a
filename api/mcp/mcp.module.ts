import { Module } from '@nestjs/common';
import { OpenApiModule } from '../openapi/openapi.module.js';
import { McpController } from './mcp.controller.js';
import { McpService } from './mcp.service.js';
import { ProtectedResourceController } from './protected-resource.controller.js';

@Module({
  controllers: [McpController, ProtectedResourceController],
  providers: [McpService],
  imports: [OpenApiModule],
})
export class McpModule {}
